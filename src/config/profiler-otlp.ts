import { optionGroup, str } from '../lib/oslo-config/options.ts'

export const profilerOtlp = optionGroup('profiler_otlp', {
  // osprofiler
  service_name_prefix: str(),
})
