import { optionGroup, str } from '../lib/oslo-config/options.ts'

const delay = (kind: string) =>
  str({
    default: '0',
    help: `Seconds that an operation of the fake ${kind} interface takes. Two numbers, separated by a comma, give a random time between them, weighted towards the first.`,
  })

export const fake = optionGroup('fake', {
  power_delay: delay('power'),
  boot_delay: delay('boot'),
  deploy_delay: delay('deploy'),
  vendor_delay: delay('vendor'),
  management_delay: delay('management'),
  inspect_delay: delay('inspect'),
  raid_delay: delay('RAID'),
  bios_delay: delay('BIOS'),
  storage_delay: delay('storage'),
  rescue_delay: delay('rescue'),
  firmware_delay: delay('firmware'),
})
