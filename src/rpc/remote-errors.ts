import { errorNamed, IronicError } from '../errors/index.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { RemoteFailure } from '../lib/oslo-messaging/message.ts'
import { IncompatibleObjectVersion, UnsupportedObjectError } from '../objects/wire.ts'
import { NoSuchMethod, UnsupportedVersion, WrongArguments } from './dispatcher.ts'

const ironicModule = 'ironic.common.exception'

/** Where Python peers know errors from that are not Ironic's own. */
const otherModules = [
  [NoSuchMethod, 'oslo_messaging.rpc.dispatcher'],
  [UnsupportedVersion, 'oslo_messaging.rpc.dispatcher'],
  [WrongArguments, 'builtins'],
  [IncompatibleObjectVersion, 'oslo_versionedobjects.exception'],
  [UnsupportedObjectError, 'oslo_versionedobjects.exception'],
] as const

/** An error of a method, for its caller. One that is not declared is a fault of ours: the log has its stack, the caller a plain sentence. */
export function toFailure(error: unknown, method: string, log: Logger): RemoteFailure {
  if (error instanceof IronicError)
    return { class: error.name, module: ironicModule, message: error.message, code: error.code }
  for (const [kind, module] of otherModules)
    if (error instanceof kind) return { class: error.name, module, message: error.message, code: null }
  log.error(`The RPC method ${method} failed unexpectedly`, { error })
  return {
    class: 'IronicException',
    module: ironicModule,
    message: `${method} failed; the log of the conductor says why.`,
    code: 500,
  }
}

/** The error that a caller throws: a declared one under its own name, anything else as a general one of status 500. */
export function fromFailure({ class: name, module, message, code }: RemoteFailure): Error {
  const Declared = module === ironicModule ? errorNamed(name) : undefined
  if (Declared === undefined) return new IronicError(`${name}: ${message}`)
  return new Declared(message, code === null ? {} : { code })
}
