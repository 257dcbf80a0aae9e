import { dict, optionGroup, str } from '../lib/oslo-config/options.ts'

export const profilerJaeger = optionGroup('profiler_jaeger', {
  // osprofiler
  service_name_prefix: str({ deprecatedForRemoval: true }),
  process_tags: dict({ default: {}, deprecatedForRemoval: true }),
})
