declare module 'virtual:operations' {
  /** The lowest role of each operation, from the OpenAPI documents. */
  export const operationRoles: Record<string, string>;
}
