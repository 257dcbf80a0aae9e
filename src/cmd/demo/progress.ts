/** What is shown of one node. */
export interface NodeProgress {
  readonly name: string
  phase: string
  state: string
  step: string
  power: string
  /** set when the node has come to its end */
  outcome: 'active' | 'failed' | null
  reason: string
  readonly began: number
  ended: number | null
}

/** Where progress is written. */
export interface Screen {
  write(text: string): void
  readonly isTTY: boolean
}

/** Shows nodes on their way: a table that is drawn anew on a terminal, one line per change elsewhere. */
export class Progress {
  readonly #screen: Screen
  readonly #nodes = new Map<string, NodeProgress>()
  readonly #began = Date.now()
  #drawn = 0
  #timer: NodeJS.Timeout | undefined

  constructor(screen: Screen) {
    this.#screen = screen
  }

  start(names: readonly string[]): void {
    for (const name of names) {
      const rest = {
        phase: 'waits',
        state: '',
        step: '',
        power: '',
        outcome: null,
        reason: '',
        began: Date.now(),
        ended: null,
      }
      this.#nodes.set(name, { name, ...rest })
    }
    if (this.#screen.isTTY) this.#timer = setInterval(() => this.#draw(), 250)
  }

  /** Takes what is new about a node. */
  update(name: string, change: Partial<Omit<NodeProgress, 'name' | 'began'>>): void {
    const node = this.#nodes.get(name)
    if (node === undefined) return
    const before = shown(node)
    Object.assign(node, change)
    if (node.outcome !== null) node.ended ??= Date.now()
    if (!this.#screen.isTTY && shown(node) !== before) {
      this.#screen.write(`${seconds(Date.now() - this.#began).padStart(7)}  ${node.name}  ${shown(node)}\n`)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    if (this.#screen.isTTY) this.#draw()
  }

  #draw(): void {
    const lines = [...this.#nodes.values()].map((node) => {
      const mark = node.outcome === 'active' ? '✔' : node.outcome === 'failed' ? '✘' : '·'
      const elapsed = seconds((node.ended ?? Date.now()) - node.began)
      const cells = [node.phase.padEnd(9), node.state.padEnd(14), node.step.padEnd(24), node.power.padEnd(10)]
      return ` ${mark} ${node.name.padEnd(10)} ${cells.join(' ')} ${elapsed.padStart(7)}  ${node.reason}`
    })
    const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : ''
    this.#screen.write(`${up}${lines.map((line) => `\u001b[2K${line}\n`).join('')}`)
    this.#drawn = lines.length
  }
}

function shown(node: NodeProgress): string {
  const parts = [node.phase, node.state, node.step === '' ? '' : `step ${node.step}`, node.power, node.reason]
  return parts.filter((part) => part !== '').join(', ')
}

/** Milliseconds as seconds for a person. */
export const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`
