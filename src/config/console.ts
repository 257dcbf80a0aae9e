import { int, ip, optionGroup, portRanges, str } from '../lib/oslo-config/options.ts'

export const console = optionGroup('console', {
  terminal_pid_dir: str(),
  terminal_timeout: int({ default: 600, min: 0 }),
  subprocess_checking_interval: int({ default: 1 }),
  subprocess_timeout: int({ default: 10 }),
  kill_timeout: int({ default: 1 }),
  socat_address: ip({ default: '$my_ip' }),
  port_range: portRanges({ sampleDefault: "['10000:20000']" }),
})
