import { isObject } from './shape.ts'

/**
 * Sentences for messages that a BMC names by id only. BMCs may leave `Message` out of their extended information
 * (DSP0266 "Extended information"); the registry `Base` says what the id means, here in our words. `%1` is the first argument.
 */
const baseMessages: Readonly<Record<string, string>> = {
  AccessDenied: 'Access to %1 was denied.',
  AccountLocked: 'The account is locked.',
  ActionNotSupported: 'The action %1 is not supported.',
  ActionParameterMissing: 'The action %1 needs the parameter %2.',
  ActionParameterNotSupported: 'The parameter %1 of the action %2 is not supported.',
  ActionParameterUnknown: 'The action %1 does not know the parameter %2.',
  ActionParameterValueConflict: 'The value %2 of parameter %1 clashes with the present state.',
  ActionParameterValueFormatError: 'The value %1 of parameter %2 of the action %3 has the wrong format.',
  ActionParameterValueNotInList: 'The value %1 of parameter %2 of the action %3 is not one of those it takes.',
  ActionParameterValueTypeError: 'The value %1 of parameter %2 of the action %3 has the wrong type.',
  CouldNotEstablishConnection: 'The BMC cannot connect to %1.',
  InsufficientPrivilege: 'The account lacks the privilege for this.',
  InternalError: 'The BMC failed internally; resetting it may help.',
  InvalidObject: 'The object at %1 is not valid.',
  MalformedJSON: 'The BMC could not read the request as JSON.',
  NoOperation: 'The request changes nothing.',
  NoValidSession: 'There is no valid session.',
  OperationFailed: 'An operation inside the BMC failed.',
  OperationTimeout: 'An operation inside the BMC took too long.',
  PreconditionFailed: 'The tag in the request does not fit the resource.',
  PreconditionRequired: 'The request needs the tag of the resource.',
  PropertyMissing: 'The property %1 is needed.',
  PropertyNotWritable: 'The property %1 is read-only.',
  PropertyUnknown: 'The property %1 is not known.',
  PropertyValueConflict: 'The property %1 clashes with the property %2.',
  PropertyValueFormatError: 'The value %1 of the property %2 has the wrong format.',
  PropertyValueNotInList: 'The value %1 of the property %2 is not one of those it takes.',
  PropertyValueTypeError: 'The value %1 of the property %2 has the wrong type.',
  ResetRequired: 'A reset of type %2 at %1 is needed.',
  ResourceAlreadyExists: 'A %1 with %2 %3 exists already.',
  ResourceAtUriInUnknownFormat: 'The resource at %1 has an unknown format.',
  ResourceAtUriUnauthorized: 'The BMC may not read %1: %2.',
  ResourceCannotBeDeleted: 'The resource cannot be deleted.',
  ResourceExhaustion: 'The resource %1 is used up.',
  ResourceInUse: 'The resource is in use.',
  ResourceMissingAtURI: 'There is nothing at %1.',
  ResourceNotFound: 'There is no %1 named %2.',
  ServiceInUnknownState: 'The BMC is in an unknown state and does not take requests.',
  ServiceShuttingDown: 'The BMC is shutting down.',
  ServiceTemporarilyUnavailable: 'The BMC is not available; try again in %1 seconds.',
  SessionLimitExceeded: 'The BMC has no room for another session.',
  SourceDoesNotSupportProtocol: 'The address %1 cannot be reached by %2.',
  UndeterminedFault: 'The BMC reports a fault of unknown kind.',
  UnsupportedOperation: 'The operation is not supported.',
}

/** Sentences for the messages of an error body that carry an id but no text. */
export function describe(body: unknown): string[] {
  const error = isObject(body) ? body['error'] : undefined
  const info = isObject(error) ? error['@Message.ExtendedInfo'] : undefined
  return (Array.isArray(info) ? info : [info])
    .filter(isObject)
    .filter((entry) => typeof entry['Message'] !== 'string')
    .map((entry) => sentenceFor(entry['MessageId'], entry['MessageArgs']))
    .filter((sentence) => sentence !== null)
    .slice(0, 8)
}

/** The sentence of a `Base` message id, with its arguments put in; null when we do not know it. */
export function sentenceFor(messageId: unknown, args: unknown): string | null {
  if (typeof messageId !== 'string') return null
  const [registry, name] = [messageId.split('.')[0], messageId.split('.').at(-1)]
  if (registry !== 'Base' || name === undefined || !Object.hasOwn(baseMessages, name)) return null
  return fillIn(baseMessages[name] ?? '', args)
}

/** Puts the arguments of a message into its text (`%1`, `%2`, ...). */
export function fillIn(text: string, args: unknown): string {
  const values = Array.isArray(args) ? args : []
  return text.replace(/%(\d)/g, (_mark, digit: string) => {
    const value: unknown = values[Number(digit) - 1]
    return value === undefined || value === null ? 'unknown' : String(value).slice(0, 256)
  })
}
