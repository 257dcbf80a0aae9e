/** An answer of the BMC. */
export interface BmcAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A Redfish error body (DSP0266 section 8.6). */
export function redfishError(
  status: number,
  messageId: string,
  message: string,
  headers?: Record<string, string>,
): BmcAnswer {
  const extended = {
    '@odata.type': '#Message.v1_1_1.Message',
    MessageId: `Base.1.8.${messageId}`,
    Message: message,
    MessageArgs: [],
    Severity: status >= 500 ? 'Critical' : 'Warning',
    Resolution: 'None',
  }
  return {
    status,
    ...(headers === undefined ? {} : { headers }),
    body: { error: { code: `Base.1.8.${messageId}`, message, '@Message.ExtendedInfo': [extended] } },
  }
}

/** A collection resource. */
export function collection(path: string, kind: string, members: readonly string[]): Record<string, unknown> {
  return {
    '@odata.id': path,
    '@odata.type': `#${kind}Collection.${kind}Collection`,
    Name: `${kind} Collection`,
    'Members@odata.count': members.length,
    Members: members.map((member) => ({ '@odata.id': member })),
  }
}

export const healthy = { State: 'Enabled', Health: 'OK' }
