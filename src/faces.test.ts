import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const maxNames = 15;

/** Counts the names that an `index.ts` exports, its types included. */
const namesOf = (source: string): string[] => [
  ...[...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    list!.split(',').map((name) => name.trim()),
  ),
  ...[
    ...source.matchAll(/^export (?:declare |async )*(?:const|function|class|interface|type|\* as) (\w+)/gm),
  ].map(([, name]) => name!),
];

test(`no feature exports more than ${maxNames} names`, () => {
  const folder = import.meta.dirname;
  const features = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(`${folder}/${entry.name}/index.ts`))
    .flatMap(({ name }) => {
      const source = readFileSync(`${folder}/${name}/index.ts`, 'utf8');
      const isFeature = /\): \w+ =>/.test(source) && /\bFeature\b/.test(source);
      return isFeature ? [{ name, names: namesOf(source).filter((exported) => exported !== '') }] : [];
    });
  expect(features.length).toBeGreaterThan(20);
  expect(features.filter(({ names }) => names.length > maxNames)).toEqual([]);
  expect(features.filter(({ name }) => name === 'agents')[0]?.names).toContain('createAgents');
});
