/** `./run bench [api|lifecycle|lab]…`: measurements beside real Ironic 39.0.0 in the same run; ratios are what counts. */
import { benchApi } from './api.ts'
import { benchLab } from './lab.ts'
import { benchLifecycle } from './lifecycle.ts'

const benches = { api: benchApi, lifecycle: benchLifecycle, lab: benchLab } as const
const wanted = process.argv.slice(2)
for (const name of wanted.length > 0 ? wanted : Object.keys(benches)) {
  if (!(name in benches)) {
    console.error(`No bench is called ${name}; there are: ${Object.keys(benches).join(', ')}`)
    process.exit(2)
  }
  console.log(`\n== ${name}`)
  await benches[name as keyof typeof benches]()
}
