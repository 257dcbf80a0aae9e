import { int, optionGroup } from '../lib/oslo-config/options.ts'

export const drac = optionGroup('drac', {
  query_raid_config_job_status_interval: int({ default: 120, min: 1 }),
  boot_device_job_status_timeout: int({ default: 30, min: 1 }),
  config_job_max_retries: int({ default: 240, min: 1, deprecatedForRemoval: true }),
  bios_factory_reset_timeout: int({ default: 600, min: 1, deprecatedForRemoval: true }),
  raid_job_timeout: int({ default: 300, min: 1 }),
})
