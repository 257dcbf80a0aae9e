/** `$name`, `${name}`, `${group.name}`; `$$` is a dollar sign. Names as oslo.config takes them, upper or lower case. */
const reference = /\$(?:(\$)|([_a-z][._a-z0-9]*)|\{([_a-z][._a-z0-9]*)\}|)/giu

/**
 * Puts values in the place of their names. `\$` stands for `$$`. A dollar sign before anything else stays.
 *
 * @param lookup the text for a name; undefined leaves the reference as it stands
 */
export function substitute(text: string, lookup: (name: string) => string | undefined): string {
  return text
    .replaceAll('\\$', '$$$$')
    .replace(reference, (whole, escaped?: string, plain?: string, braced?: string) => {
      if (escaped !== undefined) return '$'
      const name = plain ?? braced
      return name === undefined ? whole : (lookup(name) ?? whole)
    })
}
