/** Provision verbs: the event each stands for and the microversion that brought it. */
export const verbs = {
  active: { event: 'deploy', since: 1, rpc: 'do_node_deploy' },
  deploy: { event: 'deploy', since: 73, rpc: 'do_node_deploy' },
  deleted: { event: 'delete', since: 1, rpc: 'do_node_tear_down' },
  undeploy: { event: 'delete', since: 1, rpc: 'do_node_tear_down' },
  manage: { event: 'manage', since: 4, rpc: 'do_provisioning_action' },
  provide: { event: 'provide', since: 4, rpc: 'do_provisioning_action' },
  inspect: { event: 'inspect', since: 6, rpc: 'inspect_hardware' },
  abort: { event: 'abort', since: 13, rpc: 'do_provisioning_action' },
  clean: { event: 'clean', since: 15, rpc: 'do_node_clean' },
  adopt: { event: 'adopt', since: 17, rpc: 'do_provisioning_action' },
  rescue: { event: 'rescue', since: 38, rpc: 'do_node_rescue' },
  unrescue: { event: 'unrescue', since: 38, rpc: 'do_node_unrescue' },
  unhold: { event: 'unhold', since: 85, rpc: 'do_provisioning_action' },
  service: { event: 'service', since: 87, rpc: 'do_node_service' },
  rebuild: { event: 'rebuild', since: 1, rpc: 'do_node_deploy' },
} as const
export type Verb = keyof typeof verbs
