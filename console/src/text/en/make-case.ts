import { catalog } from '../catalog.ts';

/** Words of the form that makes a case of a finished run. */
export const makeCase = catalog({
  makeCase: 'Make a case',
  text: 'The run becomes a test: its messages and tool results are recorded, secrets are taken out.',
  dataset: 'Dataset',
  newDataset: 'New dataset',
  newDatasetName: 'Name of the dataset',
  name: 'Name',
  nameHint: 'Empty: the name of the run.',
  expected: 'Expected',
  expectedHint: 'Text or JSON. Empty: its result, if it completed.',
  tags: 'Tags',
  tagsHint: 'Separated by commas.',
  create: 'Create case',
  created: 'Case created',
  made: 'The case is in the dataset. {link}',
  open: 'Open case',
});
