import type { Bmc, Resource } from './bmc.ts'
import { BmcRefused, RedfishProblem } from './problems.ts'
import { AttributeRegistry, Bios, RegistryFile } from './resources.ts'
import { isObject, type JsonObject, link } from './shape.ts'

export type BiosResource = Resource<typeof Bios.shape>

/** What a registry says of a BIOS attribute (schema AttributeRegistry). */
export type RegistryAttribute = JsonObject

/**
 * Sets BIOS attributes for the next start: in the settings resource where there is one, with the tag that the BIOS resource
 * names for it.
 */
export async function setBiosAttributes(bios: BiosResource, attributes: JsonObject): Promise<void> {
  const settings = bios.data['@Redfish.Settings']
  const path = settings?.SettingsObject ?? bios.path
  const onReset = {
    '@Redfish.SettingsApplyTime': {
      '@odata.type': '#Settings.v1_0_0.PreferredApplyTime',
      ApplyTime: 'OnReset',
    },
  }
  const patch = (more: JsonObject) =>
    bios.bmc.client.patch(
      path,
      { Attributes: attributes, ...more },
      {
        tag: settings?.SettingsObject === undefined ? bios.tag : settings.ETag,
        currentTag: async () => (await bios.bmc.get(Bios, path)).tag,
        signal: bios.bmc.signal,
      },
    )
  const supportsOnReset = settings?.SupportedApplyTimes?.includes('OnReset') === true
  try {
    await patch(supportsOnReset ? onReset : {})
  } catch (error) {
    const wantsTime = error instanceof BmcRefused && error.status === 400 && error.words.includes('ApplyTime')
    if (supportsOnReset || !wantsTime) throw error
    await patch(onReset)
  }
}

/** `Bios.ResetBios`; a BMC that wants a body gets an empty one. */
export async function resetBios(bios: BiosResource): Promise<void> {
  try {
    await bios.act('#Bios.ResetBios')
  } catch (error) {
    if (!(error instanceof BmcRefused) || (error.status !== 415 && error.status !== 400)) throw error
    await bios.act('#Bios.ResetBios', {})
  }
}

/** Attributes that wait for the next start; none when there is no settings resource. Some BMCs list all attributes there. */
export async function pendingAttributes(bios: BiosResource): Promise<JsonObject> {
  const pending = await bios.bmc.find(Bios, bios.data['@Redfish.Settings']?.SettingsObject)
  return pending?.data.Attributes ?? {}
}

/** What the registry that the BIOS names says of its attributes; null when the BMC has none that can be read. */
export async function readAttributeRegistry(bmc: Bmc, name: string): Promise<readonly RegistryAttribute[] | null> {
  const collection = link((await bmc.root())['Registries'])
  if (collection === undefined) return null
  const paths = await bmc.memberPaths(collection)
  // the one that bears the name first: reading them all takes minutes on some BMCs
  const likely = paths.toSorted((a, b) => Number(b.endsWith(`/${name}`)) - Number(a.endsWith(`/${name}`)))
  for (const path of likely) {
    const file = await bmc.find(RegistryFile, path)
    if (file === null || (file.id !== name && file.data.Registry !== name)) continue
    for (const uri of locationsOf(file)) {
      const registry = await bmc.find(AttributeRegistry, uri)
      if (registry?.data.RegistryEntries?.Attributes !== undefined) return registry.data.RegistryEntries.Attributes
    }
  }
  return null
}

/** Addresses on the BMC itself, English first. An archive or a copy elsewhere in the world is not fetched. */
function locationsOf(file: Resource<typeof RegistryFile.shape>): string[] {
  const wanted = ['en', 'default']
  return (file.data.Location ?? [])
    .map((place) => ({
      rank: wanted.indexOf((place.Language ?? '').toLowerCase().split('-')[0] ?? ''),
      uri: typeof place.Uri === 'string' ? place.Uri : isObject(place.Uri) ? link(place.Uri) : undefined,
    }))
    .filter((place): place is { rank: number; uri: string } => place.rank >= 0 && place.uri !== undefined)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ uri }) => uri)
}

/** The same, where not being able to tell is no failure. */
export async function attributeRegistryIfAny(bmc: Bmc, name: string): Promise<readonly RegistryAttribute[] | null> {
  try {
    return await readAttributeRegistry(bmc, name)
  } catch (error) {
    if (error instanceof RedfishProblem) return null
    throw error
  }
}
