/** Id, name and status of a record that a response refers to; null without the record. */
export function statusReference<Status>(
  record: { readonly id: string; readonly name: string; readonly status: Status } | undefined,
): { id: string; name: string; status: Status } | null {
  return record ? { id: record.id, name: record.name, status: record.status } : null
}

/** Id and name of a record that a response refers to; null without the record. */
export function nameReference(
  record: { readonly id: string; readonly name: string } | undefined,
): { id: string; name: string } | null {
  return record ? { id: record.id, name: record.name } : null
}
