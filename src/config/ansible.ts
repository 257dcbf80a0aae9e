import { bool, int, optionGroup, str } from '../lib/oslo-config/options.ts'

export const ansible = optionGroup('ansible', {
  ansible_extra_args: str(),
  verbosity: int({ min: 0, max: 4 }),
  ansible_playbook_script: str({ default: 'ansible-playbook' }),
  playbooks_path: str({ default: '$pybasedir/drivers/modules/ansible/playbooks' }),
  config_file_path: str({ default: '$pybasedir/drivers/modules/ansible/playbooks/ansible.cfg' }),
  post_deploy_get_power_state_retries: int({ default: 6, min: 0 }),
  post_deploy_get_power_state_retry_interval: int({ default: 5, min: 0 }),
  extra_memory: int({ default: 10 }),
  image_store_insecure: bool({ default: false }),
  image_store_cafile: str(),
  image_store_certfile: str(),
  image_store_keyfile: str(),
  default_username: str({ default: 'ansible' }),
  default_key_file: str(),
  default_deploy_playbook: str({ default: 'deploy.yaml' }),
  default_shutdown_playbook: str({ default: 'shutdown.yaml' }),
  default_clean_playbook: str({ default: 'clean.yaml' }),
  default_clean_steps_config: str({ default: 'clean_steps.yaml' }),
  default_python_interpreter: str(),
})
