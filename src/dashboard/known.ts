/**
 * Whether somebody was signed in when the dashboard was last open in this browser. Only the gateway knows who is signed
 * in now.
 */
const key = 'sluicegate.signed-in'

export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(key) !== null
  } catch {
    // A browser that keeps nothing for pages.
    return false
  }
}

export function keepSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(key, 'yes')
    else localStorage.removeItem(key)
  } catch {
    // The same.
  }
}
