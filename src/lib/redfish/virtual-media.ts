import type { Resource } from './bmc.ts'
import { ActionMissing, BmcRefused } from './problems.ts'
import type { VirtualMedia } from './resources.ts'

export type MediaSlot = Resource<typeof VirtualMedia.shape>
export type MediaType = 'CD' | 'DVD' | 'Floppy' | 'USBStick'

export interface Insertion {
  readonly image: string
  readonly username?: string | null
  readonly password?: string | null
  /** `HTTP`, `HTTPS`, `NFS`, `CIFS`; most BMCs read it off the address */
  readonly transferProtocol?: string | null
}

/**
 * What a BMC asks for when it refuses the plain request, and what is then sent along. Credentials are placeholders: some BMCs
 * want the parameters although the server needs none, and those of the BMC itself are nobody else's business.
 */
const demands: readonly {
  readonly words: readonly string[]
  readonly add: (image: string) => Readonly<Record<string, unknown>>
}[] = [
  {
    words: ['TransferProtocolType'],
    add: (image) => ({ TransferProtocolType: image.startsWith('https:') ? 'HTTPS' : 'HTTP' }),
  },
  { words: ['TransferMethod'], add: () => ({ TransferMethod: 'Stream' }) },
  { words: ['UserName', 'Password'], add: () => ({ UserName: 'none', Password: 'none' }) },
]

/**
 * Inserts an image (`VirtualMedia.InsertMedia`; PATCH on BMCs without the action). Only the address is sent at first: BMCs
 * refuse parameters that they do not know.
 * @throws ActionMissing when the slot cannot take media; BmcRefused
 */
export async function insertMedia(
  slot: MediaSlot,
  { image, username, password, transferProtocol }: Insertion,
): Promise<void> {
  let body: Record<string, unknown> = {
    Image: image,
    ...(username ? { UserName: username } : {}),
    ...(password ? { Password: password } : {}),
    ...(transferProtocol ? { TransferProtocolType: transferProtocol } : {}),
  }
  if (slot.action('#VirtualMedia.InsertMedia') === undefined) {
    if (!takesPatch(slot)) throw new ActionMissing('#VirtualMedia.InsertMedia', slot.path)
    await slot.patch({ ...body, Inserted: true, WriteProtected: true })
    return
  }
  for (;;) {
    try {
      await slot.act('#VirtualMedia.InsertMedia', body)
      return
    } catch (error) {
      if (!(error instanceof BmcRefused)) throw error
      const more = demandOf(error, body, image)
      if (more === null) throw error
      body = { ...body, ...more }
    }
  }
}

/** What the refusal asks for and was not sent yet. */
function demandOf(
  error: BmcRefused,
  sent: Readonly<Record<string, unknown>>,
  image: string,
): Readonly<Record<string, unknown>> | null {
  if (error.status < 400 || error.isServerSide) return null
  const missing =
    error.says('ActionParameterMissing') || error.says('PropertyMissing') || error.code.endsWith('GeneralError')
  if (!missing) return null
  for (const { words, add } of demands) {
    const named = words.some((word) => error.words.includes(word))
    const more = add(image)
    if (named && Object.keys(more).every((name) => !Object.hasOwn(sent, name))) return more
  }
  return null
}

/** Takes the medium out. A BMC that wants a body gets an empty one. @throws ActionMissing, BmcRefused */
export async function ejectMedia(slot: MediaSlot): Promise<void> {
  if (slot.action('#VirtualMedia.EjectMedia') === undefined) {
    if (!takesPatch(slot)) throw new ActionMissing('#VirtualMedia.EjectMedia', slot.path)
    await slot.patch({ Image: null, Inserted: false })
    return
  }
  try {
    await slot.act('#VirtualMedia.EjectMedia')
  } catch (error) {
    if (!(error instanceof BmcRefused) || (error.status !== 415 && error.status !== 400)) throw error
    await ejectWithBody(slot)
  }
}

async function ejectWithBody(slot: MediaSlot): Promise<void> {
  try {
    await slot.act('#VirtualMedia.EjectMedia', {})
  } catch (error) {
    if (!(error instanceof BmcRefused)) throw error
    if ((await slot.refresh()).data.Inserted === true) throw error // else it is out already, which is what was asked
  }
}

const takesPatch = (slot: MediaSlot): boolean =>
  (slot.headers['allow'] ?? '').split(',').some((method) => method.trim().toUpperCase() === 'PATCH')
