/** The message of a thrown value, for logs; the code of an error that has none. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.message || ((error as { code?: string }).code ?? error.name);
};
