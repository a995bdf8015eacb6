import { visit } from 'yaml';
import { YamlFault, yamlDocument, yamlValue } from '../lib/yaml.ts';

/** The value of a text, or the reason that it cannot be read. */
export type Parsed = { value: unknown } | { fault: string };

const read = (text: string): unknown => {
  const document = yamlDocument(text, { merge: false });
  // A few aliases can stand for any amount of text.
  let hasAlias = false;
  visit(document, {
    Alias: () => {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  if (hasAlias) throw new YamlFault('has aliases, which are not supported');
  return yamlValue(document, 0);
};

/** Reads a text of YAML or JSON, without aliases. It blocks: a megabyte takes up to 1.5 s. */
export const parseYaml = (text: string): Parsed => {
  try {
    return { value: read(text) };
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    return { fault: `${error.message}${error.line === undefined ? '' : ` (line ${error.line})`}` };
  }
};
