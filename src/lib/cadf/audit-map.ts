import { parseIni } from '../oslo-config/ini.ts'

/** How requests are named in audit events: the file that OpenStack services call `api_audit_map.conf`. */
export interface AuditMap {
  /** a word of a path and what one thing below it is called: `nodes` → `node` */
  readonly pathKeywords: ReadonlyMap<string, string>
  /** last word of a path, or `word/method`, and the action that it stands for */
  readonly customActions: ReadonlyMap<string, string>
  /** type of a service in the catalog and its CADF type: `baremetal` → `service/compute` */
  readonly serviceEndpoints: ReadonlyMap<string, string>
  /** the service that is meant when the address of the request is none of the catalog */
  readonly targetEndpointType: string | null
}

/** @throws ConfigError with file and line when the text is no configuration file */
export function readAuditMap(text: string, path: string): AuditMap {
  const { settings } = parseIni(path, text)
  const section = (name: string) =>
    new Map(
      settings
        .filter((setting) => setting.section === name)
        .map(({ key, value }) => [key.toLowerCase(), value] as const),
    )
  return {
    pathKeywords: section('path_keywords'),
    customActions: section('custom_actions'),
    serviceEndpoints: section('service_endpoints'),
    targetEndpointType: section('DEFAULT').get('target_endpoint_type') ?? null,
  }
}
