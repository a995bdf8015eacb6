import { isNode, LineCounter, parseDocument, stringify } from 'yaml';
import type { SemanticDataModelIssue } from '../../api/types.gen.ts';

/** Value of a text in YAML, its errors, and the places of its parts. */
export interface ReadText {
  /** Undefined if there are errors. */
  value: unknown;
  errors: SemanticDataModelIssue[];
  /** Begin of the part at a path (`semantic_model.datasets[0].source`): its offset, and its line from 1. */
  placeOf: (path: string) => { offset: number; line: number } | null;
}

const partsOf = (path: string): (string | number)[] =>
  (path.match(/[^.[\]]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** Writes a value as YAML. Long lines stay whole, so that expressions can be read. */
export const toYaml = (value: object): string => stringify(value, { lineWidth: 0 });

/** Reads YAML. Aliases are refused: a few of them can stand for any amount of text. */
export const readYaml = (text: string): ReadText => {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    uniqueKeys: true,
    merge: false,
  });
  const issue = (message: string, path = ''): SemanticDataModelIssue => ({
    severity: 'error',
    code: 'yaml',
    path,
    message,
    suggestions: [],
  });
  const errors = document.errors.map(({ message, pos }) => {
    const { line } = lines.linePos(pos[0]);
    // The first line of the message names the fault; a drawing of the text follows.
    return issue(message.split('\n')[0]!.replace(/:$/, ''), `line ${line}`);
  });
  let value: unknown;
  try {
    value = errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 });
  } catch {
    errors.push(issue('Aliases are not supported.'));
  }
  const placeOf = (path: string) => {
    const line = /^line (\d+)$/.exec(path)?.[1];
    if (line) return { line: Number(line), offset: lines.lineStarts[Number(line) - 1] ?? 0 };
    // A missing part is located where it should be: at the nearest part around it that exists.
    for (let parts = partsOf(path); parts.length > 0; parts = parts.slice(0, -1)) {
      const node = document.getIn(parts, true);
      const offset = isNode(node) ? node.range?.[0] : undefined;
      if (offset !== undefined) return { offset, line: lines.linePos(offset).line };
    }
    return null;
  };
  return { value, errors, placeOf };
};
