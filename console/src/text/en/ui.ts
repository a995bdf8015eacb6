import { catalog } from '../catalog.ts';
import { bytes, number, plural } from '../format.ts';

/**
 * Words of the components that all pages share. The name of a button next to a field does not repeat the label of the
 * field, so that a label finds one thing.
 */
export const ui = catalog({
  actions: 'Actions',
  moreActions: (name: string) => `More actions for ${name}`,
  showSecret: 'Show the characters',
  secretSet: 'set',
  replace: 'Replace',
  entryName: (place: number) => `Name ${number(place)}`,
  entryNamePlaceholder: 'name',
  entryValue: (place: number) => `Value ${number(place)}`,
  replaceEntry: (name: string) => `Replace ${name}`,
  removeEntry: (name: string) => `Remove ${name}`,
  remove: 'Remove',
  addEntry: 'Add',
  nothingMatches: 'Nothing matches',
  clearChoice: 'Clear the choice',
  filter: 'Filter',
  narrow: 'Narrow the list',
  search: 'Search',
  exactly: 'exactly this',
  countOf: (count: number) => number(count),
  selection: 'Selection',
  selectAll: 'Select all',
  selectRow: (name: string) => `Select ${name}`,
  selectEverything: (count: number) => `Select all ${number(count)} that match`,
  selected: (count: number) => `${number(count)} selected`,
  pages: 'Pages',
  firstPage: 'First page',
  nextPage: 'Next page',
  newRows: (count: number, more: boolean) => `${number(count)}${more ? '+' : ''} new`,
  live: 'Live',
  tree: 'Tree',
  text: 'Text',
  cut: (shown: number, all: number) => `The first ${bytes(shown)} of ${bytes(all)}.`,
  entries: (count: number) => plural(count, { one: '# entry', other: '# entries' }),
  items: (count: number) => plural(count, { one: '# item', other: '# items' }),
  lastOccurrences: (count: number) =>
    `Last ${plural(count, { one: '# occurrence', other: '# occurrences' })}`,
  countWord: (count: number, word: string) => `${number(count)} ${word}`,
  now: (clock: string) => `now ${clock}`,
  showAll: 'Show all',
  showLess: 'Show less',
  clockGap: (from: string, to: string) => `${from} to ${to} does not exist`,
  clockTwice: (from: string, to: string) => `${from} to ${to} twice`,
});
