import { files as words } from '../text/en/files.ts';

/** The origin of a data frame, in a few words. */
export const sourceOf = (source: Record<string, unknown>): string => {
  const { kind, name, file_name, sheet } = source;
  const file = typeof file_name === 'string' ? file_name : name;
  const what =
    kind === 'file' && typeof file === 'string'
      ? words.sourceFile(file)
      : (words.sources[kind as keyof typeof words.sources] ?? String(kind));
  return typeof sheet === 'string' ? `${what}, ${words.sourceSheet(sheet)}` : what;
};
