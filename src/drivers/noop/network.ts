import type { JsonDict } from '../../objects/versioned-object.ts'
import { NetworkInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'

const done = Promise.resolve()

/** Networks are somebody else's business: no VIFs, no changes. */
export class NoopNetwork extends NetworkInterface {
  readonly name = 'noop'
  portChanged(): Promise<void> {
    return done
  }
  portgroupChanged(): Promise<void> {
    return done
  }
  vifAttach(): Promise<void> {
    return done
  }
  vifDetach(): Promise<void> {
    return done
  }
  vifList(_task: Task): Promise<JsonDict[]> {
    return Promise.resolve([])
  }
  currentVif(): string | null {
    return null
  }
  addProvisioningNetwork(): Promise<void> {
    return done
  }
  removeProvisioningNetwork(): Promise<void> {
    return done
  }
  addCleaningNetwork(_task: Task): Promise<JsonDict> {
    return Promise.resolve({})
  }
  removeCleaningNetwork(): Promise<void> {
    return done
  }
  configureTenantNetworks(): Promise<void> {
    return done
  }
  unconfigureTenantNetworks(): Promise<void> {
    return done
  }
  override validateInspection(): Promise<void> {
    return done
  }
}
