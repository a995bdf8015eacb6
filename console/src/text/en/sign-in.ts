import { catalog } from '../catalog.ts';

export const signIn = catalog({
  title: 'Sign in',
  lead: (workspace: string) => `to the agents of ${workspace}`,
  leadPlain: 'to the agents of your team',
  withProvider: (name: string) => `Sign in with ${name}`,
  providerDown: (name: string) => `${name} could not be reached since the start of the platform.`,
  orKey: 'or with a key',
  apiKey: 'API key',
  keyHint:
    "A new installation prints its first key once, where it was started: in the terminal or the container's log.",
  wrongKey: 'No key is like this one, or it has ended.',
});
