import { strip } from '../python/text.ts'

const key = '[A-Za-z0-9_.-]'
const bare = '[!#-~]'
const quoted = '="[ !#-~]+"'
/** Parameters may follow each other without a blank before the first blank, where a quote has just ended. */
const glued = `(?:${key}+(?:=${bare}+${key})?${quoted})*`
const parameter = `${key}+(?:=${bare}+|${quoted})?`
const commandLine = new RegExp(`^${glued}(?:${key}+(?:=${bare}+)?)?(?: +${parameter})*(?: +-- +[ !#-~]+)?$`)

/** Whether a text is a kernel command line by Ironic's grammar: `key`, `key=value`, `key="a value"`, ` -- ` before init's arguments. */
export const isKernelCommandLine = (text: string): boolean => commandLine.test(strip(text))
