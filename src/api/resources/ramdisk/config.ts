import type { Config } from '../../../config/index.ts'
import type { Node } from '../../../objects/node.ts'

/** Management interfaces that know the address of the BMC anyway. */
const knowsBmc = ['redfish', 'idrac-redfish']

/** How the agent shall behave: what a lookup answers beside the node. */
export const agentConfig = (config: Config, node: Node, token: unknown): Record<string, unknown> => ({
  metrics: {
    backend: config.metrics.agent_backend,
    prepend_host: config.metrics.agent_prepend_host,
    prepend_uuid: config.metrics.agent_prepend_uuid,
    prepend_host_reverse: config.metrics.agent_prepend_host_reverse,
    global_prefix: config.metrics.agent_global_prefix,
  },
  metrics_statsd: {
    statsd_host: config.metrics_statsd.agent_statsd_host,
    statsd_port: config.metrics_statsd.agent_statsd_port,
  },
  heartbeat_timeout: config.api.ramdisk_heartbeat_timeout,
  agent_containers: {
    allow_arbitrary_containers: config.agent_containers.allow_arbitrary_containers,
    allowed_containers: config.agent_containers.allowed_containers,
    container_steps_file: config.agent_containers.container_steps_file,
    runner: config.agent_containers.runner,
    pull_options: config.agent_containers.pull_options,
    run_options: config.agent_containers.run_options,
  },
  agent_token: token ?? null,
  agent_token_required: true,
  agent_md5_checksum_enable: config.agent.allow_md5_checksum,
  disable_deep_image_inspection: config.conductor.disable_deep_image_inspection,
  permitted_image_formats: config.conductor.permitted_image_formats,
  agent_skip_bmc_detect: knowsBmc.includes(node.management_interface ?? ''),
  enable_bios_bootloader_install: config.agent.enable_bios_bootloader_install,
  tls_min_version: config.agent.tls_minimum_version,
  tls_cipher_suites: config.agent.tls_ciphers,
})
