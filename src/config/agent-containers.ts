import { bool, list, oneOf, optionGroup, str } from '../lib/oslo-config/options.ts'

export const agentContainers = optionGroup('agent_containers', {
  allow_arbitrary_containers: bool({ default: false }),
  allowed_containers: list({ default: [] }),
  container_steps_file: str({ default: '/etc/ironic-python-agent.d/mysteps.yaml' }),
  runner: oneOf(['podman', 'docker'], { default: 'podman' }),
  pull_options: list({ default: [] }),
  run_options: list({ default: ['--rm', '--network=host'] }),
})
