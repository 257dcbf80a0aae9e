/**
 * What one maker's BMC does differently, as rows. `vendor` is looked up in `properties.vendor` of the node (lower case); a
 * method asks for the trait of behaviour that it cares about, never for a maker.
 */
export interface Quirk {
  readonly vendor: (vendor: string) => boolean
  /** Boot changes must name mode, enabled and target together, changed or not. */
  readonly wantsWholeBootRequest?: boolean
  /** `BootSourceOverrideEnabled` must be named even when it stays the same. */
  readonly wantsBootEnabled?: boolean
  /** Setting the boot device resets the boot mode, so that it must be put right afterwards. */
  readonly losesBootMode?: boolean
  /** Virtual CDs are booted as this target where the BMC offers it. */
  readonly cdBootsAs?: 'UsbCd'
}

const has =
  (...words: readonly string[]) =>
  (vendor: string) =>
    words.some((word) => vendor.includes(word))

export const quirks: readonly Quirk[] = [
  {
    vendor: has('american megatrends international', 'ami', 'asrockrack', 'redfish_compatible'),
    wantsWholeBootRequest: true,
  },
  { vendor: (vendor) => vendor === 'supermicro', wantsBootEnabled: true, losesBootMode: true, cdBootsAs: 'UsbCd' },
]

/** All rows that fit a vendor, as one. */
export function quirksOf(vendor: unknown): Omit<Quirk, 'vendor'> {
  if (typeof vendor !== 'string' || vendor === '') return {}
  return Object.assign({}, ...quirks.filter((quirk) => quirk.vendor(vendor.toLowerCase()))) as Quirk
}
