import { InspectionRuleAlreadyExists, InspectionRuleNotFound } from '../errors/inspection.ts'
import { InspectionRuleObject, type InspectionRule } from '../objects/inspection-rule.ts'
import { codec, type Row } from './codec.ts'
import type { Db } from './database.ts'
import type { Page } from './paging.ts'
import {
  type Conditions,
  deleteRow,
  type Entity,
  equals,
  filtering,
  getRow,
  insertRow,
  listRows,
  updateRow,
} from './rows.ts'

export type InspectionRuleValues = Partial<Omit<InspectionRule, 'id' | 'created_at' | 'updated_at'>>

export const inspectionRuleCodec = codec<InspectionRule>(InspectionRuleObject, 'inspection_rules', {
  priority: 0,
  sensitive: 0,
  phase: 'main',
})

const rules: Entity<InspectionRule> = {
  table: 'inspection_rules',
  codec: inspectionRuleCodec,
  notFound: (rule) => new InspectionRuleNotFound({ rule }),
  conflict: (_columns, { uuid }) => new InspectionRuleAlreadyExists({ uuid }),
}

/** @throws InspectionRuleNotFound */
export const getInspectionRule = (db: Db, uuid: string): Promise<InspectionRule> => getRow(db, rules, 'uuid', uuid)

/** @throws InspectionRuleAlreadyExists */
export const createInspectionRule = (db: Db, values: InspectionRuleValues): Promise<InspectionRule> =>
  insertRow(db, rules, values)

/** @throws InspectionRuleNotFound */
export const updateInspectionRule = (
  db: Db,
  ident: number | string,
  values: InspectionRuleValues,
): Promise<InspectionRule> => updateRow(db, rules, ident, values)

/** @throws InspectionRuleNotFound */
export const destroyInspectionRule = (db: Db, ident: number | string): Promise<void> => deleteRow(db, rules, ident)

export interface InspectionRuleFilters {
  /** `main`, `preprocess`, … */
  readonly phase?: string
  readonly scope?: string
}

const conditions: Conditions<InspectionRuleFilters> = {
  phase: equals('inspection_rules.phase'),
  scope: equals('inspection_rules.scope'),
}

export interface InspectionRuleList extends Page {
  readonly filters?: InspectionRuleFilters
}

/** The rows as the database has them. */
export const listInspectionRuleRows = (db: Db, { filters = {}, ...page }: InspectionRuleList = {}): Promise<Row[]> =>
  listRows(db, rules, page, filtering(conditions, filters))

/** @throws InspectionRuleNotFound for the marker @throws InvalidParameterValue for the sort key */
export const listInspectionRules = async (db: Db, list: InspectionRuleList = {}): Promise<InspectionRule[]> =>
  (await listInspectionRuleRows(db, list)).map(inspectionRuleCodec.decode)
