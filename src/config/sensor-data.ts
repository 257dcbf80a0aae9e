import { bool, int, list, optionGroup } from '../lib/oslo-config/options.ts'

export const sensorData = optionGroup('sensor_data', {
  send_sensor_data: bool({ default: false }),
  interval: int({ default: 600, min: 1 }),
  workers: int({ default: 4, min: 1 }),
  wait_timeout: int({ default: 300 }),
  data_types: list({ default: ['ALL'] }),
  enable_for_undeployed_nodes: bool({ default: false }),
  enable_for_conductor: bool({ default: true }),
  enable_for_nodes: bool({ default: true }),
})
