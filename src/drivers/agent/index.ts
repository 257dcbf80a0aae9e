import { AutodetectDeploy } from './autodetect.ts'
import { BootcDeploy } from './bootc.ts'
import { CustomAgentDeploy } from './custom-agent.ts'
import { AgentDeploy } from './direct.ts'
import { AgentPower } from './power.ts'
import { AgentRaid } from './raid.ts'
import { RamdiskDeploy } from './ramdisk.ts'
import { AgentRescue } from './rescue.ts'

/** Interfaces that work through the ramdisk agent, by entry-point name. */
export const interfaces = {
  deploy: {
    autodetect: AutodetectDeploy,
    bootc: BootcDeploy,
    'custom-agent': CustomAgentDeploy,
    direct: AgentDeploy,
    ramdisk: RamdiskDeploy,
  },
  power: { agent: AgentPower },
  raid: { agent: AgentRaid },
  rescue: { agent: AgentRescue },
}
