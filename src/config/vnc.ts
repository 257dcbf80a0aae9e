import { bool, hostAddress, int, list, oneOf, optionGroup, port, str } from '../lib/oslo-config/options.ts'

export const vnc = optionGroup('vnc', {
  enabled: bool({ default: false }),
  host_ip: hostAddress({ default: '0.0.0.0' }),
  port: port({ default: 6090 }),
  public_url: str({ mutable: true }),
  enable_ssl: bool({ default: false }),
  novnc_web: str({ default: '/usr/share/novnc' }),
  novnc_record: str(),
  novnc_auth_schemes: list({ default: ['none'], itemChoices: ['none'] }),
  read_only: bool({ default: false }),
  token_timeout: int({ default: 600, min: 10 }),
  expire_console_session_interval: int({ default: 120, min: 1 }),
  container_provider: str({ default: 'fake' }),
  console_image: str({ mutable: true }),
  systemd_container_template: str({
    default: '$pybasedir/console/container/ironic-console.container.template',
    mutable: true,
  }),
  systemd_container_publish_port: str({ default: '$my_ip::5900' }),
  kubernetes_container_template: str({
    default: '$pybasedir/console/container/ironic-console-pod.yaml.template',
    mutable: true,
  }),
  kubernetes_pod_timeout: int({ default: 120 }),
  container_executable: str({ default: 'docker' }),
  container_host: str(),
  container_publish_port: str({ default: '$my_ip::5900' }),
  container_command_template: str({
    default: '$pybasedir/console/container/ironic-console-container.template',
    mutable: true,
  }),
  cert_file: str({ deprecated: ['(same)/ssl_cert_file'] }),
  key_file: str({ deprecated: ['(same)/ssl_key_file'] }),
  tls_minimum_version: oneOf(['1.2', '1.3'], { default: '1.2', deprecated: ['(same)/ssl_minimum_version'] }),
  tls_ciphers: str({ deprecated: ['(same)/ssl_ciphers'] }),
  wait_for_ready_timeout: int({ default: 10, min: 1 }),
})
