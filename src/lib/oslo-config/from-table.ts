import { resolve } from 'node:path'
import { isKernelCommandLine } from '../kernel-command-line/grammar.ts'
import { invalidValue } from './errors.ts'
import { hostAddressType, ipType, uriType } from './network-types.ts'
import type { ItemKind, Option, OptionGroup, OptionKind } from './options.ts'
import { pythonText } from './python-text.ts'
import { type FormerName, registered, type RegisteredOption } from './registered.ts'
import {
  booleanType,
  dictType,
  floatType,
  integerType,
  listType,
  octalType,
  portRangeType,
  portType,
  stringType,
  type ValueType,
} from './value-types.ts'

type Spec = Option<unknown>

/** Refuses `..`, `//` and relative paths, so that a path prefix means what it says. A slash at the end goes away. */
const absolutePathType: ValueType = {
  allowed: 'an absolute path without . or .. in it',
  convert(given) {
    const text = pythonText(given)
    const path = text.length > 1 ? text.replace(/\/+$/, '') : text
    if (path !== resolve(path)) throw invalidValue(`it must be ${this.allowed}`)
    return path
  },
}

const kernelParametersType: ValueType = {
  allowed: 'a kernel command line: key, key=value or key="a value", with blanks between',
  convert(given, context) {
    const text = pythonText(given)
    const unchecked = context === undefined || context.read('conductor', 'disable_kernel_parameter_parsing') === true
    if (!unchecked && !isKernelCommandLine(text)) throw invalidValue(`it must be ${this.allowed}`)
    return text
  },
}

const itemTypes: Record<ItemKind, (spec: Spec) => ValueType> = {
  str: (spec) => stringType(spec.itemChoices === undefined ? {} : { choices: spec.itemChoices }),
  int: () => integerType(),
  'port-range': () => portRangeType,
  'absolute-path': () => absolutePathType,
}

const text = (spec: Spec) =>
  stringType({
    ...(spec.choices === undefined ? {} : { choices: spec.choices }),
    ignoreCase: spec.ignoreCase ?? false,
  })
const dictionary = (spec: Spec) => dictType({ value: stringType({ quotes: spec.quotes ?? false }) })
const numbers = ({ min, max }: Spec) => ({ min, max })

const types: Record<OptionKind, (spec: Spec) => ValueType> = {
  str: text,
  choice: text,
  multistr: text,
  int: (spec) => integerType(numbers(spec)),
  float: (spec) => floatType(numbers(spec)),
  port: (spec) => portType(numbers(spec)),
  bool: () => booleanType,
  octal: () => octalType,
  list: (spec) => listType({ item: itemTypes[spec.items ?? 'str'](spec) }),
  dict: dictionary,
  multidict: dictionary,
  ip: () => ipType(),
  hostaddress: () => hostAddressType(),
  uri: (spec) => uriType(spec.schemes === undefined ? {} : { schemes: spec.schemes }),
  'kernel-parameters': () => kernelParametersType,
}

/** `group/name` with `(same)` for what stays. */
function formerName(text: string): FormerName {
  const slash = text.indexOf('/')
  const part = (value: string) => (value === '(same)' ? undefined : value)
  return { group: part(text.slice(0, slash)), name: part(text.slice(slash + 1)) }
}

/** The options of a group's table as the loader wants them. */
export function registeredOptions(group: OptionGroup): RegisteredOption[] {
  return Object.entries(group.options).map(([key, spec]) =>
    registered({
      name: spec.name ?? key,
      dest: key,
      group: group.name === 'DEFAULT' ? null : group.name,
      type: types[spec.kind](spec),
      multi: spec.kind === 'multistr' || spec.kind === 'multidict',
      default: spec.default ?? null,
      required: spec.required ?? false,
      mutable: spec.mutable ?? false,
      secret: spec.secret ?? false,
      deprecated: (spec.deprecated ?? []).map(formerName),
      deprecatedForRemoval: spec.deprecatedForRemoval ?? false,
      help: spec.help,
      cli: spec.cli === undefined ? null : { ...spec.cli, flag: spec.kind === 'bool' },
    }),
  )
}
