/** A view of the settings in force, for rooms that outlive a reload: a reload replaces only one reference. */

/**
 * @param read the part of the settings in force; those are never changed, only replaced by others of the same shape
 * @returns a view whose fields are those of the settings in force whenever they are read
 */
export function viewOf<T extends object>(read: () => Readonly<T>): Readonly<T> {
  const view = {} as T
  for (const name of Object.keys(read()) as (keyof T)[]) {
    Object.defineProperty(view, name, { enumerable: true, get: () => read()[name] })
  }
  return view
}
