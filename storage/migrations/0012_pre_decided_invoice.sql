-- What was decided is what is kept: the document as it was shown to whoever decided, until the item is reopened.
ALTER TABLE reviews
    ADD COLUMN decided_invoice json,
    ADD COLUMN taught_vendor   text; -- vendors.vendor_key that the approval taught about; NULL: none
