/**
 * The same program in ASCII: the engine keeps a text with one character beyond Latin-1 in two bytes for each, 12 MB more
 * for the whole platform. Right in texts, templates, regular expressions and names; only the raw text of a tagged template
 * (`String.raw`) would change, so no tag of the platform may read that.
 */
export const toAscii = (code: string): string =>
  code.replaceAll(/(\\*)([\u0080-\uffff])/g, (_text, slashes: string, unit: string) => {
    // A character that is escaped without need, as in /\–/: its backslash would escape the one of the result.
    const before = slashes.length % 2 === 1 ? slashes.slice(1) : slashes;
    return `${before}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
