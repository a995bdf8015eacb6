import { newId } from '../lib/ids.ts';
import { version } from '../lib/version.ts';

/** Id of this process, until it ends. */
const instanceId = newId();

/** The resource of the platform's own spans. `given` are attributes that its operator chose; they win. */
export const platformResource = (given: Readonly<Record<string, string>>): Record<string, string> => ({
  'service.name': 'agent-platform',
  'service.version': version,
  'service.instance.id': instanceId,
  ...given,
});
