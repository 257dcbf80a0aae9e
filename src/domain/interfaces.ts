/** Interface types of a node, in the order that real Ironic goes through them. */
export const interfaceTypes = [
  'boot',
  'deploy',
  'management',
  'network',
  'power',
  'bios',
  'console',
  'firmware',
  'inspect',
  'raid',
  'rescue',
  'storage',
  'vendor',
] as const
export type InterfaceType = (typeof interfaceTypes)[number]

/** The ones that every hardware type must offer. */
export const coreInterfaces = [
  'boot',
  'deploy',
  'management',
  'network',
  'power',
] as const satisfies readonly InterfaceType[]
