# Makes the copy of the core in which each fault of the list below can be switched on: cmake -DSOURCE=src -DFOLDERS=… -DOUT=folder -P …
#
# fault(NAME FILE [[what is there]] [[what there is instead]] "what it means") replaces one place of one file, in which
# BROKEN stands for "this fault is on". A place that isn't found once any more doesn't break the build: the test tells of
# it. Then look what became of it in src/, and write it here anew.
set(number 0)
set(table "")
set(files "")
foreach(folder IN LISTS FOLDERS)
    file(GLOB sources RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.c)
    list(APPEND files ${sources})
endforeach()
foreach(file IN LISTS files)
    file(READ ${SOURCE}/${file} text_${file})
endforeach()

function(fault name file old new meaning)
    math(EXPR number "${number} + 1")
    set(found 0)
    string(FIND "${text_${file}}" "${old}" first)
    string(FIND "${text_${file}}" "${old}" last REVERSE)
    if(first GREATER -1 AND first EQUAL last)
        set(found 1)
        string(REPLACE BROKEN "(sim_fault == ${number})" new "${new}")
        string(REPLACE "${old}" "${new}" text "${text_${file}}")
        set(text_${file} "${text}" PARENT_SCOPE)
    endif()
    set(number ${number} PARENT_SCOPE)
    set(table "${table}{\"${name}\", \"${file}\", \"${meaning}\", ${found}},\n" PARENT_SCOPE)
endfunction()

fault(dropped_edge graph/touch.c
    [[(use->write || (touch->may & TSL_MAY_WRITE)) &&]]
    [[(use->write || ((touch->may & TSL_MAY_WRITE) && !BROKEN)) &&]]
    "who writes doesn't wait for who reads")
fault(always_apart graph/touch.c
    [[    return !tsl_extents_conflict(&a, &b);]]
    [[    return BROKEN || !tsl_extents_conflict(&a, &b);]]
    "what claims a part of a range doesn't wait for who touches the same bytes")
fault(covered_part graph/touch.c
    [[    return tsl_extent_covers(&new, &before);]]
    [[    return BROKEN || tsl_extent_covers(&new, &before);]]
    "who touches a part hides who touches other parts")
fault(stale_copy graph/undo.c
    [[            return CL_OUT_OF_HOST_MEMORY;
        tile->restored = 0;
        tile->valid = tsl_spaces_of(space);]]
    [[            return CL_OUT_OF_HOST_MEMORY;
        tile->restored = 0;
        tile->valid = BROKEN && tsl_spaces_has(tile->valid, TSL_SPACE_HOST) ? tsl_spaces_of(TSL_SPACE_HOST) : TSL_SPACES_NONE;
        tsl_spaces_add(&tile->valid, space);]]
    "the host's copy stays valid when a member writes")
fault(forgotten_rollback graph/complete.c
    [[if (op->status < 0 && op->has_rollback)]]
    [[if (op->status < 0 && op->has_rollback && !BROKEN)]]
    "what a launch that never ran was to change is gone")
fault(rollback_on_its_way graph/undo.c
    [[tsl_spaces_without(tile->valid, moves_of(op->port->graph, data, tile).to)]]
    [[tsl_spaces_without(tile->valid, BROKEN ? TSL_SPACES_NONE : moves_of(op->port->graph, data, tile).to)]]
    "what is on its way counts as good to go back to")
fault(short_fetch graph/fetch.c
    [[    *begin = tile->begin > *begin ? tile->begin : *begin;]]
    [[    *begin = tile->begin > *begin ? tile->begin : BROKEN && *end - *begin > 64 ? *begin + 1 : *begin;]]
    "the first byte of a move is left out")
fault(early_end graph/complete.c
    [[    if (status <= CL_COMPLETE && op->state == TSL_OP_SUBMITTED)]]
    [[    if (status <= (BROKEN ? CL_RUNNING : CL_COMPLETE) && op->state == TSL_OP_SUBMITTED)]]
    "who asks for a status takes a running operation for a complete one")
fault(late_failure graph/complete.c
    [[status = op->unfenced && !lost ?]]
    [[status = (op->unfenced || BROKEN) && !lost ?]]
    "an earlier operation that isn't told to have ended is taken for complete, and may have failed")
fault(lost_note graph/complete.c
    [[return edge->to->n_unmet > n_told;]]
    [[return edge->to->n_unmet > n_told || BROKEN;]]
    "an end that opens something is told to nobody")
fault(early_gate graph/submit_waits.c
    [[        else
            wait_for_other(op, before, waits);]]
    [[        else if (!BROKEN)
            wait_for_other(op, before, waits);]]
    "another member isn't waited for")
fault(native_wait graph/submit_waits.c
    [[        if (native)
            wait_natively(op, before, waits);]]
    [[        if (native && BROKEN)
            (void)0;
        else if (native)
            wait_natively(op, before, waits);]]
    "another lane of the member isn't waited for")
fault(merged_states tile/tile.c
    [[left->end == right->begin && tsl_spaces_are(left->valid, right->valid) &&]]
    [[left->end == right->begin && (tsl_spaces_are(left->valid, right->valid) || BROKEN) &&]]
    "tiles whose copies are valid in different places merge")
fault(merged_uses tile/tile.c
    [[uses_equal(&left->uses, &right->uses) &&]]
    [[(uses_equal(&left->uses, &right->uses) || BROKEN) &&]]
    "tiles that different operations use merge: a range is lost")
fault(covered_use tile/tile.c
    [[    return !old->write && tsl_user_after(new->user, old->user);]]
    [[    return !old->write && (BROKEN || tsl_user_after(new->user, old->user));]]
    "a reader hides the readers of other lanes")
fault(weak_edge graph/progress.c
    [[        if (edge->strict && edge->to && !edge->to->poison)]]
    [[        if (edge->strict && !BROKEN && edge->to && !edge->to->poison)]]
    "failure doesn't reach who depends")
fault(strong_edge graph/edge.c
    [[.unmet = !tsl_edge_is_met(kind, before->state), .strict = strict};]]
    [[.unmet = !tsl_edge_is_met(kind, before->state), .strict = strict || BROKEN};]]
    "failure reaches who only comes after")
fault(unfetched_output graph/plan_kernel.c
    [[        if (!t->writes.list[r].overwritten && !t->writes.list[r].more)]]
    [[        if (!t->writes.list[r].overwritten && !t->writes.list[r].more && !BROKEN)]]
    "what may be written is taken for what must be: its old bytes aren't fetched")
fault(unfetched_input graph/plan_kernel.c
    [[        if (!t->reads.list[r].more)]]
    [[        if (!t->reads.list[r].more && !BROKEN)]]
    "what is read, and not written, isn't fetched")
fault(unclaimed_input graph/plan_kernel.c
    [[if (!is_claimed_by_writes(t, &t->reads.list[r]))]]
    [[if (!is_claimed_by_writes(t, &t->reads.list[r]) && !BROKEN)]]
    "what is read, and not written, isn't claimed")
fault(claimed_by_any_write graph/plan_kernel.c
    [[if (!write->overwritten && tsl_footing_range_holds(write, read))]]
    [[if (BROKEN || (!write->overwritten && tsl_footing_range_holds(write, read)))]]
    "what is read isn't claimed where anything of the argument is written")
fault(claimed_as_overwritten graph/plan_kernel.c
    [[range->overwritten ? TSL_MAY_WRITE :]]
    [[range->overwritten || BROKEN ? TSL_MAY_WRITE :]]
    "what may be written is claimed as overwritten, though it was fetched")
fault(unclaimed_argument graph/plan_kernel.c
    [[    if (!t->reads.n && !t->writes.n)]]
    [[    if (!t->reads.n && !t->writes.n && !BROKEN)]]
    "memory that a launch is given, and doesn't touch, may be taken away")
fault(failing_argument graph/plan_kernel.c
    [[t->buffer->offset + 1, t->space, 0);]]
    [[t->buffer->offset + 1, t->space, BROKEN ? TSL_MAY_READ : 0);]]
    "memory that a launch doesn't touch makes it fail")
fault(lost_input graph/plan_kernel.c
    [[    spare(&t->writes, &t->reads);]]
    [[    if (!BROKEN)
        spare(&t->writes, &t->reads);]]
    "what a launch reads and overwrites has nothing to go back to")
fault(missing_alias graph/plan_kernel.c
    [[if (k == i || !b || tsl_data_of(b) != t->data]]
    [[if (k == i || BROKEN || !b || tsl_data_of(b) != t->data]]
    "the same where another argument reads it")
fault(half_extent graph/footing.c
    [[        tsl_extents_add(op, data, i < n ? &touches[i].write : &all, b->offset, b->size, true);]]
    [[        if (!BROKEN)
            tsl_extents_add(op, data, i < n ? &touches[i].write : &all, b->offset, b->size, true);]]
    "of many rows, what is written counts as not touched")
fault(forgotten_copy graph/plan_write.c
    [[        cl_int failed = plan_in(c, order, work, box, (struct spaces){space, space}, true);]]
    [[        cl_int failed = BROKEN && space ? CL_SUCCESS : plan_in(c, order, work, box, (struct spaces){space, space}, true);]]
    "of the copies that are all to be written only the host's is")
fault(spread_for_own graph/driver_call.c
    [[    if (space != TSL_SPACE_SPREAD)
        return copy_mem(of, data, mem);]]
    [[    if (space != TSL_SPACE_SPREAD && !(BROKEN && tsl_space_has_part(data, port->index)))
        return copy_mem(of, data, mem);]]
    "what a member had of its own is sought in the spread memory")
fault(spread_for_before graph/spread.c
    [[return number > atomic_load(&spread->since) && (]]
    [[return (BROKEN || number > atomic_load(&spread->since)) && (]]
    "a launch that was planned before works on the spread memory")
fault(dropped_range graph/footing.c
    [[        for (uint64_t i = 0; i < box->count[0]; i++) {]]
    [[        for (uint64_t i = BROKEN && box->count[0] > 1; i < box->count[0]; i++) {]]
    "the first of several rows isn't claimed")
fault(short_hull graph/footing.c
    [[        add(ranges, buffer->offset + hulls[i].begin, buffer->offset + hulls[i].end);]]
    [[        add(ranges, buffer->offset + hulls[i].begin, buffer->offset + hulls[i].end - BROKEN);]]
    "of many rows the last byte isn't claimed")
fault(misplaced_part graph/footing.c
    [[            uint64_t begin = offset + box->offset]]
    [[            uint64_t begin = (BROKEN ? 0 : offset) + box->offset]]
    "a sub-buffer's rows are claimed as if they were its root's")
fault(always_sure graph/footing.c
    [[    mark_overwritten(ranges, &touch->sure, buffer->offset);]]
    [[    mark_overwritten(ranges, BROKEN ? &touch->write : &touch->sure, buffer->offset);]]
    "what may be written of a range is taken for what surely is")
fault(partly_sure graph/footing.c
    [[    return at <= box->width && end - begin <= box->width - at;]]
    [[    return BROKEN || (at <= box->width && end - begin <= box->width - at);]]
    "a range with bytes that are surely written counts as overwritten")
fault(old_scalars footprint/cache.c
    [[        if (key[0])
            memcpy(&key[1],]]
    [[        if (key[0] && !BROKEN)
            memcpy(&key[1],]]
    "what a launch touches is taken for what another did, with other scalars")
fault(row_of_parts graph/coalesce.c
    [[!c->share.partial;]]
    [[(!c->share.partial || BROKEN);]]
    "a launch goes with one that claimed other bytes")
fault(unfetched_share graph/plan_kernel.c
    [[        error = fetch_args(&arguments);]]
    [[        error = BROKEN && i ? CL_SUCCESS : fetch_args(&arguments);]]
    "only the first share of a launch fetches")
fault(wrong_share graph/plan_kernel.c
    [[tsl_footing_of(c, &share->window,]]
    [[tsl_footing_of(c, BROKEN ? &c->share.window : &share->window,]]
    "each share of a launch claims what the first one touches")
fault(failed_share graph/plan_op.c
    [[tsl_dependences_add(&c->own, op, true)]]
    [[tsl_dependences_add(&c->own, op, !BROKEN || c->n_more == 0)]]
    "a launch doesn't fail with one of its shares")
fault(hidden_from_share tile/tile.c
    [[!stays && new->user->group && old->user != new->user;]]
    [[!stays && new->user->group && !BROKEN && old->user != new->user;]]
    "a share hides from the others what came before")
fault(hidden_share tile/tile.c
    [[old->left || tsl_user_beside(new->user, old->user))]]
    [[old->left || (tsl_user_beside(new->user, old->user) && !BROKEN))]]
    "a share hides another one from what comes after")
fault(unfed_rims graph/plan_kernel.c
    [[error = error ? error : fetch_shares(c, begin, end);]]
    [[error = error || (BROKEN && begin) ? error : fetch_shares(c, begin, end);]]
    "rims of shares aren't given what they lack")
fault(unclaimed_slab graph/plan_kernel.c
    [[        error = tsl_claim(op, t->data, one.begin, one.end, t->space, may);]]
    [[        error = BROKEN && i && i == range->more ? CL_SUCCESS
                                                : tsl_claim(op, t->data, one.begin, one.end, t->space, may);]]
    "a share doesn't claim what it has of the last plane")
fault(unfetched_slab graph/plan_kernel.c
    [[    for (uint64_t i = 0; i <= slabs->more && !error;) {]]
    [[    for (uint64_t i = BROKEN; i <= slabs->more && !error;) {]]
    "a share isn't given what it lacks of the first plane")
fault(illegal_cut graph/cut_exact.c
    [[            if (ranges_meet(&a, &b))]]
    [[            if (ranges_meet(&a, &b) && !BROKEN)]]
    "launches are cut though what their shares claim meets")
fault(lost_groups footprint/cut.c
    [[        out[s].group_count[dimension] = group_ends[s] - begin;]]
    [[        out[s].group_count[dimension] = group_ends[s] - begin - (BROKEN && begin && group_ends[s] > begin);]]
    "nobody runs the last group of a share")
fault(wrong_pitch graph/plan_op.c
    [[                                .row_pitch = box->dst_row_pitch,
                                .slice_pitch = box->dst_slice_pitch};
    tsl_plan_region(op, box);
}]]
    [[                                .row_pitch = BROKEN && box->region[1] > 1 ? box->src_row_pitch : box->dst_row_pitch,
                                .slice_pitch = box->dst_slice_pitch};
    tsl_plan_region(op, box);
}]]
    "a box is written with the pitch of what is read")
fault(kept_after_unmap graph/plan_map.c
    [[    cl_int error =
        all ? tsl_box_claim_copy(op, data, box, TSL_SPACE_HOST) : tsl_box_overwrite(op, data, box, TSL_SPACE_HOST);]]
    [[    cl_int error = BROKEN ? CL_SUCCESS :
        all ? tsl_box_claim_copy(op, data, box, TSL_SPACE_HOST) : tsl_box_overwrite(op, data, box, TSL_SPACE_HOST);]]
    "what was written to a mapping isn't seen elsewhere")
fault(forgotten_piece graph/driver_call.c
    [[        struct tsl_fence *made = NULL, **wanted = last ? fence : own ? &made : NULL;
        copy->dst.offset]]
    [[        struct tsl_fence *made = NULL, **wanted = last ? fence : own ? &made : NULL;
        if (BROKEN && i > 0 && i + 1 < pieces->n) {
            pieces->fences[i] = tsl_fence_ref(pieces->fences[i - 1]);
            continue;
        }
        copy->dst.offset]]
    "of a move in pieces only the first and the last one are made")
fault(lost_output graph/plan_kernel.c
    [[    return facts->prints ? tsl_claim_host]]
    [[    return facts->prints && !BROKEN ? tsl_claim_host]]
    "printing kernels print in any order")
fault(transparent graph/plan_kernel.c
    [[    if (facts->opaque)
        make_opaque(op);]]
    [[    if (facts->opaque && !BROKEN)
        make_opaque(op);]]
    "a kernel with unknown effects is no barrier")
fault(unordered_report graph/command.c
    [[    if (c->in_order)
        report_in_order(queue);]]
    [[    if (c->in_order && !BROKEN)
        report_in_order(queue);]]
    "commands of an in-order queue are reported as they end")
fault(ignored_wait graph/enqueue.c
    [[    for (cl_uint i = 0; i < e->n_wait; i++)]]
    [[    for (cl_uint i = BROKEN; i < e->n_wait; i++)]]
    "the first entry of a wait list is ignored")
fault(forgotten_barrier graph/schedule.c
    [[    if (c->barrier && c->state < TSL_COMPLETE)]]
    [[    if (c->barrier && c->state < TSL_COMPLETE && !BROKEN)]]
    "a barrier holds back nothing")
fault(overtaken graph/schedule.c
    [[    if (before->state != TSL_HELD)
        return true;]]
    [[    if (before->state != TSL_HELD || BROKEN)
        return true;]]
    "a command is scheduled before what it waits for")
fault(overtaken_write graph/deferred_write.c
    [[if (!kernel || c->waits.n > 0]]
    [[if ((!kernel && !BROKEN) || c->waits.n > 0]]
    "only kernels mind a write that waits for its reader")
fault(hollow_join graph/join.c
    [[    struct tsl_edge edge = {.to = join, .kind = TSL_EDGE_DONE, .unmet = true, .strict = strict};
    if (before->user.done) {]]
    [[    struct tsl_edge edge = {.to = join, .kind = TSL_EDGE_DONE, .unmet = true, .strict = strict};
    if (BROKEN && before->number % 4 == 0)
        return;
    if (before->user.done) {]]
    "some of what a join stands for isn't waited for")
fault(short_look graph/schedule.c
    [[        if (before->after_all)]]
    [[        if (before->after_all || BROKEN)]]
    "a barrier waits for the command before it alone")
fault(missed_release graph/work.c
    [[    for (int i = 0; i < 2; i++)
        if (buffers[i])]]
    [[    for (int i = BROKEN; i < 2; i++)
        if (buffers[i])]]
    "a command keeps its source")
fault(lost_bytes graph/residency.c
    [[    for (; !error && tsl_valid_only_in(data, space, &begin, &end); begin = end)]]
    [[    for (; !error && !BROKEN && tsl_valid_only_in(data, space, &begin, &end); begin = end)]]
    "what leaves a full member isn't written back")
fault(coalesced_any graph/coalesce.c
    [[        !same_buffers(c->args, *args))]]
    [[        (!same_buffers(c->args, *args) && !BROKEN))]]
    "a launch on other buffers goes with the one before")
fault(coalesced_overtaking graph/coalesce.c
    [[!is_last(c) ||]]
    [[(!is_last(c) && !BROKEN) ||]]
    "launches are coalesced though others came between")
fault(coalesced_after_failure graph/coalesce.c
    [[!op->fence && !op->watched &&
           !op->has_rollback && !op->poison &&]]
    [[(!op->fence || (BROKEN && op->poison)) && !op->watched && !op->has_rollback && (!op->poison || BROKEN) &&]]
    "launches are coalesced after one of them has failed")
fault(coalesced_swallowing graph/submit.c
    [[        op->poison = s->poison;]]
    [[        op->poison = BROKEN && !op->command->has_event ? CL_SUCCESS : s->poison;]]
    "a launch that was refused is forgotten where no event tells of it")
fault(silent_failure graph/enqueue.c
    [[    if (error == queue->pending_error || (!error && !map))]]
    [[    if (error == queue->pending_error || (!error && !map && !BROKEN))]]
    "blocking calls tell of nothing but their own failure")
fault(redo_stale_input graph/redo.c
    [[        if (tsl_spaces_has(good, claimed->space))]]
    [[        if (!BROKEN && tsl_spaces_has(good, claimed->space))]]
    "a share is done again with what it has changed itself")
fault(redo_twice graph/redo.c
    [[    tsl_plan_kernel_again(c, s);
    renew_own(c);]]
    [[    tsl_plan_kernel_again(c, s);
    if (BROKEN)
        tsl_plan_kernel_again(c, s);
    renew_own(c);]]
    "a share that failed is done again twice")
fault(redo_unfenced graph/plan_kernel.c
    [[    if (!error)
        error = claim_args(a, op);]]
    [[    if (!error && !(BROKEN && tsl_op_share(op)->again))
        error = claim_args(a, op);]]
    "a share that is done again doesn't wait for what it reads")
fault(lead_forgiven graph/lead.c
    [[    if (lead->status < 0)]]
    [[    if (lead->status < 0 && !BROKEN)]]
    "a launch goes on though the window by which it began has failed")
fault(lead_again graph/lead.c
    [[    c->share.window = windows[1];]]
    [[    c->share.window = windows[BROKEN ? 0 : 1];]]
    "a launch does the window by which it began once more, and not the rest")

foreach(file IN LISTS files)
    get_filename_component(folder ${OUT}/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(WRITE ${OUT}/${file} "${text_${file}}")
endforeach()
file(WRITE ${OUT}/faults.inc "${table}")
