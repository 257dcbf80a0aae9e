import type { ErrorClass } from '../errors/define.ts'
import type { AnyCall } from './resource.ts'

/**
 * What an identifier of the path names. Below 1.91 a `.json` may have been cut from a name that really ends so; it is tried
 * where the name without it is not there.
 */
export async function orWithSuffix<T>(
  call: AnyCall,
  ident: string,
  missing: ErrorClass<never>,
  get: (ident: string) => Promise<T>,
): Promise<T> {
  try {
    return await get(ident)
  } catch (error) {
    if (!call.jsonSuffix || !(error instanceof missing)) throw error
    return await get(`${ident}.json`)
  }
}
