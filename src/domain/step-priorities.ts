import type { InterfaceType } from './interfaces.ts'

/** Order of equal priorities: the interface with the higher number first. */
export const cleaningInterfacePriority: Readonly<Partial<Record<InterfaceType, number>>> = {
  vendor: 7,
  power: 6,
  management: 5,
  firmware: 4,
  deploy: 3,
  bios: 2,
  raid: 1,
}
export const deployingInterfacePriority: Readonly<Partial<Record<InterfaceType, number>>> = {
  vendor: 7,
  power: 6,
  management: 5,
  firmware: 4,
  deploy: 3,
  bios: 2,
  raid: 1,
}
export const servicingInterfacePriority: Readonly<Partial<Record<InterfaceType, number>>> = {
  vendor: 7,
  power: 6,
  management: 5,
  firmware: 4,
  deploy: 3,
  bios: 2,
  raid: 1,
  network: 8,
}
export const verifyingInterfacePriority: Readonly<Partial<Record<InterfaceType, number>>> = {
  power: 13,
  management: 12,
  firmware: 11,
  inspect: 10,
  deploy: 9,
  boot: 8,
  bios: 7,
  raid: 6,
  vendor: 5,
  network: 4,
  storage: 3,
  console: 2,
  rescue: 1,
}
