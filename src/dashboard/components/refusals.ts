/**
 * Reasons why the company's provider, or the gateway after it, refused a sign-in: the gateway sends one of these codes,
 * never a text.
 */
const sentences: Readonly<Record<string, string>> = {
  denied: 'The sign-in was refused or given up at your company’s provider.',
  not_accepted:
    'The answer of your company’s provider was not accepted. Try again; the log tells an administrator more.',
  nobody: 'Your company’s provider did not say who you are. An administrator has to look at its settings.',
  no_role: 'Your company’s provider knows you, but gives you no role here. Ask an administrator for one.',
  not_begun: 'The sign-in was not begun in this browser. Begin again here.',
  too_late: 'The sign-in took too long. Begin again.',
  disabled: 'Your login is disabled here. Ask an administrator.',
  login_taken: 'Your login belongs to somebody else here. Ask an administrator.',
  sign_in_unavailable: 'Your company’s provider cannot be reached. Try again in a while, or use a password.',
  secure_transport_required: 'Sign-in over plain HTTP is not allowed. Use the address that begins with https.',
  storage_unavailable: 'The gateway cannot look up logins at the moment. Try again later.'
}

export function refusalSentence(reason: string): string {
  return sentences[reason] ?? 'The sign-in did not succeed.'
}
