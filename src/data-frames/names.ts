/** The names of frames in SQL. */
export const frameName = /^[a-z][a-z0-9_]{0,62}$/;
const maxLength = 63;

/** The name of a frame that is made of a file: the file's name in snake case, without its extension. */
export const nameOfFile = (fileName: string): string => {
  const base = fileName.replace(/\.[^.]*$/, '') || fileName;
  const plain = base.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const words = plain.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  const name = words.replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  if (name === '') return 'frame';
  return (/^[a-z]/.test(name) ? name : `frame_${name}`).slice(0, maxLength);
};

/** `name`, or the first of `name_2`, `name_3` … that is not taken. */
export const freeFrameName = (name: string, taken: ReadonlySet<string>): string => {
  let free = name;
  for (let number = 2; taken.has(free); number++) {
    const suffix = `_${number}`;
    free = name.slice(0, maxLength - suffix.length) + suffix;
  }
  return free;
};

/** Results that no one named have such names. */
export const isResultName = (name: string): boolean => /^result_\d+$/.test(name);

/** The first of `result_1`, `result_2` … that is not taken. */
export const freeResultName = (taken: ReadonlySet<string>): string => {
  let number = 1;
  while (taken.has(`result_${number}`)) number++;
  return `result_${number}`;
};
