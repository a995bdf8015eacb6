/** `text` as the database can hold it: without NUL and lone surrogates. */
export const storable = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();
