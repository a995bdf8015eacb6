/**
 * Returns the regular expression of a grader. Patterns that come from other products are often wrong with the flag `u`
 * (`\-`), so that flag is dropped where it does not fit. Throws a SyntaxError.
 */
export const compilePattern = (pattern: string, flags: string): RegExp => {
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    return new RegExp(pattern, flags);
  }
};
