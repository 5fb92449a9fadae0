/** SQL: whether the attachment `a` has its content, and a record that is not deleted. */
export const IS_ATTACHED = `a.status = 'ready' AND EXISTS (
     SELECT FROM plinth.record r WHERE r.base_id = a.base_id AND r.record_type = a.record_type AND r.id = a.record_id
       AND r.created_at = a.record_created_at)`
