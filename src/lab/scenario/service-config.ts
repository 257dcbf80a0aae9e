import { join } from 'node:path'

export interface ServiceConfigShape {
  /** where the service keeps what it keeps */
  readonly state: string
  readonly apiPort: number
  /** address of the service's web server for boot files */
  readonly filesPort: number
  readonly esp: string
  readonly kernel: string
  readonly ramdisk: string
  readonly host?: string
  /** more options, or others: `section.option` */
  readonly set?: Readonly<Record<string, string | number | boolean>>
}

/** The interfaces that a service for the lab enables. */
const interfaces = {
  bios: 'redfish,no-bios,fake',
  boot: 'redfish-virtual-media,fake',
  console: 'no-console,fake',
  deploy: 'direct,fake',
  firmware: 'redfish,no-firmware,fake',
  inspect: 'redfish,agent,no-inspect,fake',
  management: 'redfish,fake',
  network: 'noop',
  power: 'redfish,agent,fake',
  raid: 'agent,redfish,no-raid,fake',
  rescue: 'agent,no-rescue,fake',
  storage: 'noop,fake',
  vendor: 'redfish,no-vendor,fake',
}

/** An `ironic.conf` for an all-in-one service beside a lab: SQLite, no authentication on loopback, virtual media, direct deploy. */
export function serviceConfig(shape: ServiceConfigShape): string {
  const host = shape.host ?? '127.0.0.1'
  const api = `http://${host}:${shape.apiPort}`
  const options: Record<string, Record<string, string | number | boolean>> = {
    DEFAULT: {
      host: 'lab-conductor',
      my_ip: host,
      auth_strategy: 'noauth',
      rpc_transport: 'none',
      state_path: shape.state,
      tempdir: join(shape.state, 'tmp'),
      log_file: join(shape.state, 'ironic.log'),
      enabled_hardware_types: 'redfish,fake-hardware',
      ...Object.fromEntries(Object.entries(interfaces).map(([kind, names]) => [`enabled_${kind}_interfaces`, names])),
      default_network_interface: 'noop',
      esp_image: shape.esp,
      grub_config_path: 'EFI/BOOT/grub.cfg',
    },
    api: { host_ip: host, port: shape.apiPort, public_endpoint: api },
    service_catalog: { endpoint_override: api },
    database: { connection: `sqlite:///${join(shape.state, 'ironic.sqlite')}` },
    conductor: { deploy_kernel: shape.kernel, deploy_ramdisk: shape.ramdisk, automated_clean: true },
    deploy: {
      http_url: `http://${host}:${shape.filesPort}`,
      http_root: join(shape.state, 'http'),
      default_boot_mode: 'uefi',
      erase_devices_priority: 0,
      erase_devices_metadata_priority: 10,
      iso_master_path: join(shape.state, 'iso-cache'),
    },
    agent: {
      image_download_source: 'http',
      certificates_path: join(shape.state, 'certs'),
      deploy_logs_local_path: join(shape.state, 'deploy-logs'),
    },
    pxe: { images_path: join(shape.state, 'images'), instance_master_path: join(shape.state, 'images-master') },
    oslo_messaging_notifications: { driver: 'noop' },
  }
  for (const [name, value] of Object.entries(shape.set ?? {})) {
    const [section = '', option = ''] = name.split('.')
    options[section] = { ...options[section], [option]: value }
  }
  return Object.entries(options)
    .map(
      ([section, values]) =>
        `[${section}]\n${Object.entries(values)
          .map(([name, value]) => `${name} = ${value}\n`)
          .join('')}`,
    )
    .join('\n')
}
