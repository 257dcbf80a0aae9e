import { linksOf } from '../../links.ts'
import { defineView } from '../../view.ts'
import { chassisFields } from './fields.ts'

export const chassisView = defineView({
  fields: chassisFields,
  resource: 'chassis',
  extrasNamed: true,
  extras: {
    // a list in a list: real Ironic has shown it so from the beginning
    nodes: { text: (row, { url }) => JSON.stringify([linksOf(url, 'chassis', `${String(row['uuid'])}/nodes`)]) },
  },
})
