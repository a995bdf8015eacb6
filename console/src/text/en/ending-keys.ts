import { catalog } from '../catalog.ts';

export const endingKeys = catalog({
  more: 'and more',
  endMade: 'End these keys, too',
  endMadeHint: 'Programs that use them are refused at once. This cannot be undone.',
  madeByPerson: 'The person made these keys of the workspace:',
  madeByKey: 'It made these keys:',
  ownPause: 'These keys of the person pause:',
  ownEnd: 'These keys of the person are deleted:',
  ownWeaker: 'These keys of the person do no more than the new role allows:',
});
