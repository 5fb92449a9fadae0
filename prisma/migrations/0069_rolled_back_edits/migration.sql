-- What a promotion changed can be taken back in parts.
ALTER TABLE plinth.promotion_edit ADD COLUMN rolled_back boolean NOT NULL DEFAULT false;
UPDATE plinth.promotion_edit e SET rolled_back = true FROM plinth.promotion p
  WHERE p.base_id = e.base_id AND p.id = e.promotion_id AND p.status = 'rolled_back';
