import { RaidInterface } from '../interfaces/driver.ts'

/** Checks a configuration and keeps it; it has no steps to apply one. */
export class FakeRaid extends RaidInterface {
  readonly name = 'fake'
}
